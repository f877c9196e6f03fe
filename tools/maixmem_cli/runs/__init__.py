# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A script run on the stand-in or on a firmware image, and why it stopped."""
