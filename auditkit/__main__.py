"""`python -m auditkit`: the same as the command `auditkit`."""

from auditkit.cli import main

if __name__ == "__main__":
    main()
