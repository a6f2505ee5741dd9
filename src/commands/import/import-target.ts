// Target of an import: a database, or a running service.

import type { VersionTag } from '../../domain/user-group/user-group.ts';
import type { PropertyValidator } from '../../operations/property-schema/validator/validator.ts';
import type { LineResult } from '../../operations/user-group/line-result.ts';

export type ImportOne = (line: Buffer) => Promise<LineResult>;
export type StartBatch = () => Promise<ImportOne>;

export interface ImportSettings {
  propertyValidator: PropertyValidator;
  /** Whether a line replaces the fields of an existing group. */
  replaces: boolean;
}

/** User group of the target. */
export interface ExistingUserGroup {
  id: string;
  /** When it was created, changed or renamed last, by the clock that dates the file; milliseconds since 1970. */
  updatedAt: number;
  version: VersionTag;
}

export interface ImportTarget {
  /** Maximum number of lines and deletions at a time. */
  readonly concurrency: number;
  /** Reports what would happen to each line, taken separately. */
  preview(): Promise<StartBatch>;
  start(): Promise<StartBatch>;
  /** Returns all user groups, in pages. */
  userGroups(): AsyncIterable<readonly ExistingUserGroup[]>;
  /** Deletes this version of the user group. */
  remove(userGroup: ExistingUserGroup): Promise<'deleted' | 'not_found' | 'version_mismatch'>;
  /** Called after the last line. */
  finish?(): Promise<void>;
}
