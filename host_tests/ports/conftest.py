# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Fixtures of the ports' tests: boards with a Rockchip NPU."""

from rknn_raw import boards_fixture, desk_fixture
