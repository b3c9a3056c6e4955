"""How far an approximate model may be from the exact one."""
