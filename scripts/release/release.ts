// What the builders of artefacts get, and what they are.

import type { Peer } from './run.ts';

export interface Release {
  version: string;
  /** Full hash. */
  commit: string;
  /** Time of the commit in seconds: the time of everything in the artefacts. */
  epoch: number;
  /** Folder of the artefacts. */
  output: string;
  /** Folder of intermediate files. */
  work: string;
}

export interface Builder {
  /** Word on the command line. */
  kind: string;
  what: string;
  peers: readonly Peer[];
  build(release: Release): Promise<void> | void;
}

/** Debian's names of the architectures, and those of the OCI. */
export const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' } as const;
export type Architecture = keyof typeof ARCHITECTURES;
export const architectures = Object.keys(ARCHITECTURES) as Architecture[];
