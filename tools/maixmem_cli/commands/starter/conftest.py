pytest_plugins = ["maixmem_cli.runs.pytest_k210"]
