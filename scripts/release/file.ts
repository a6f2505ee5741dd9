// Files of a release.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export function readJson<Content>(path: string): Content {
  return JSON.parse(readFileSync(path, 'utf8'));
}

export function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
