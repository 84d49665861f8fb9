"""`python -m karat` is the command `karat`."""

from karat.cli.main import main

if __name__ == "__main__":
    main()
