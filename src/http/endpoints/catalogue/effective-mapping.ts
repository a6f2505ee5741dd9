// The data sources of a resolved user group: members and schema.

import { type EffectiveMapping, unresolvedReasons } from '../../../domain/catalogue/catalogue.ts';
import { dataSourceFields } from '../../../domain/catalogue/catalogue-body.ts';
import { refuseLargeResolution } from '../../../operations/catalogue/catalogue.ts';
import { Json, jsonArray, jsonObject } from '../../json.ts';
import { namedSchema, type Schema } from '../../schema.ts';
import { dataSourceIdSchema } from './data-source.ts';

/** Returns undefined members without a catalogue. Throws `limit_reached`. */
export function effectiveMappingMembers(effective: EffectiveMapping | null) {
  if (effective === null) return { data_sources: undefined, unresolved: undefined };
  refuseLargeResolution(effective);
  return { data_sources: dataSourcesJson(effective), unresolved: unresolvedJson(effective) };
}

/** Data sources by schema id. */
function dataSourcesJson({ dataSources }: EffectiveMapping): Json {
  let members = '';
  for (const { member } of dataSources.values()) members += members === '' ? member : `,${member}`;
  return new Json(`{${members}}`);
}

const NONE = new Json('[]');

function unresolvedJson({ unresolved }: EffectiveMapping): Json {
  if (unresolved.length === 0) return NONE;
  return jsonArray(
    unresolved.map(({ schemaId, reference, reason }) =>
      jsonObject({ schema_id: schemaId, data_source: reference, reason }),
    ),
  );
}

const dataSources: Schema = {
  type: 'object',
  additionalProperties: namedSchema('ResolvedDataSource', {
    data_source_id: dataSourceIdSchema,
    provided_id: { ...dataSourceFields.schema_id, description: "The caller's own id of the data source." },
    name: dataSourceFields.name,
    attributes: dataSourceFields.attributes,
  }),
  description:
    'The data source of each schema that is mapped or has a default, by schema id. Absent without a catalogue.',
};

const unresolved: Schema = {
  type: 'array',
  items: namedSchema('UnresolvedSchema', {
    schema_id: { type: 'string' },
    data_source: { type: ['string', 'integer'], description: 'What the mapping or the default refers to.' },
    reason: {
      type: 'string',
      enum: unresolvedReasons,
      description:
        '`missing`: no data source has this id. `other_schema`: it is one of another schema. `reserved`: it is for another user group.',
    },
  }),
  description:
    'Schemas whose mapping or default leads to no data source of theirs. Show an error instead of data: none of them ' +
    'falls back to another data source. Absent without a catalogue.',
};

export const effectiveMappingSchemas = { data_sources: dataSources, unresolved };
export const effectiveMappingNames = Object.keys(effectiveMappingSchemas);
