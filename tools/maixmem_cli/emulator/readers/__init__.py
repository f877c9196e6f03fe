"""What the board's RAM and flash say, read from outside: heaps, names, functions, traces."""
