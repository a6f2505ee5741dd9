// Target of an import: a database, or a running service.

import type { PropertyValidator } from '../operations/property-schema/validator/validator.ts';
import type { LineResult } from '../operations/user-group/line-result.ts';

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
  /** When it was created, changed or renamed last; milliseconds since 1970. */
  updatedAt: number;
}

export interface ImportTarget {
  /** Maximum number of lines and deletions at a time. */
  readonly concurrency: number;
  /** Reports what would happen to each line, taken separately. */
  preview(): Promise<StartBatch>;
  start(): Promise<StartBatch>;
  /** Returns all user groups, in pages. */
  userGroups(): AsyncIterable<readonly ExistingUserGroup[]>;
  /** Returns whether the user group existed. */
  remove(id: string): Promise<boolean>;
  finish(): Promise<void>;
}
