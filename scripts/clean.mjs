/** Removes what the build made, so that no file of an older build is packed. */
import { rmSync } from 'node:fs';

rmSync(new URL('../dist/', import.meta.url), { recursive: true, force: true });
