// Shared by the operations on a whole configuration.

import { configSection, type SectionName } from '../../domain/config.ts';
import type { Document } from '../../domain/document.ts';
import type { EnvironmentConfig } from '../document/environment-config.ts';

/** Processor time for an entry, as parsing so many bytes, beside its text. */
export const ENTRY_BYTES = 1_024;

export function sectionDocuments(
  config: EnvironmentConfig,
  name: SectionName,
): ReadonlyMap<string, Document> {
  return config.ofKind(configSection(name).definition.kind);
}
