"""SAM's flags of a record, by the SAM specification, section 1.4."""

from __future__ import annotations

UNMAPPED, REVERSE, SECONDARY, SUPPLEMENTARY = 0x4, 0x10, 0x100, 0x800
