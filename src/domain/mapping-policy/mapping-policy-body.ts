// The body that replaces the mapping policy.

import { modeField } from '../policy-mode.ts';
import { bodyType } from '../request-body.ts';

export const mappingPolicyBody = bodyType({
  name: 'MappingPolicy',
  fields: { mode: modeField },
  required: ['mode'],
  convert: ({ value }) => value,
});
