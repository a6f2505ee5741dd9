// Input of the builders of artefacts, and their interface.

import type { Peer } from './run.ts';

export interface Release {
  version: string;
  /** Full commit hash. */
  commit: string;
  /** Time of the commit in seconds, which everything in the artefacts has. */
  epoch: number;
  /** Folder for the artefacts. */
  output: string;
  /** Folder for intermediate files. */
  work: string;
}

export interface Builder {
  /** Name of the builder on the command line. */
  kind: string;
  what: string;
  peers: readonly Peer[];
  build(release: Release): Promise<void> | void;
}

/** Architecture names of Debian, which are also those of OCI. */
export const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' } as const;
export type Architecture = keyof typeof ARCHITECTURES;
export const architectures = Object.keys(ARCHITECTURES) as Architecture[];
