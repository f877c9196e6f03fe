pytest_plugins = ["maixmem_cli.pytest_k210"]
