import type { Caller } from '../../domain/api-token.ts';
import { ConfigWriter, configSection, type SectionName, sectionNames } from '../../domain/config/config.ts';
import { type Document, documentTotal } from '../../domain/document.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { Problem } from '../../problem.ts';
import type { Context } from '../context.ts';
import type { EnvironmentConfig } from '../document/environment-config.ts';

/** Processor time per entry besides its text, expressed as bytes to parse. */
export const ENTRY_BYTES = 1_024;
/** Maximum size of the documents of a configuration in a response. */
export const MAX_CONFIG_BYTES = 1024 * 1024;

export function sectionDocuments(
  config: EnvironmentConfig,
  name: SectionName,
): ReadonlyMap<string, Document> {
  return config.ofKind(configSection(name).definition.kind);
}

/** Throws `limit_reached` for a configuration of more than `maxBytes`. */
export async function readConfig(
  { store, configs, cpu }: Pick<Context, 'store' | 'configs' | 'cpu'>,
  caller: Caller,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<{ version: number; text: JsonText }> {
  const config = await configs.of(store, caller);
  const sections = sectionNames.map((name) => [name, [...sectionDocuments(config, name).values()]] as const);
  const bytes = sections.reduce((sum, [, documents]) => sum + documentTotal(documents).bytes, 0);
  if (bytes > maxBytes)
    throw new Problem(
      'limit_reached',
      `The configuration has more than ${maxBytes} bytes. Run user-group-service config export on the database, or list its parts.`,
    );
  const writer = new ConfigWriter(config.catalogue);
  for (const [name, documents] of sections) {
    for (const document of documents) {
      await cpu.turn(ENTRY_BYTES + document.body.length);
      writer.add(name, document);
    }
  }
  return { version: config.version, text: writer.text };
}
