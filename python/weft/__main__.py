# SPDX-License-Identifier: Apache-2.0
"""`python -m weft [OPTIONS] app.py [ARGUMENTS...]`."""

from weft._launch import main

if __name__ == "__main__":
    main()
