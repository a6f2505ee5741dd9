// Modes of the rules about stored fields: ignored, reported or enforced.

export const policyModes = ['off', 'report', 'enforce'] as const;
export type PolicyMode = (typeof policyModes)[number];

export const modeField = {
  type: 'string',
  enum: policyModes,
  description:
    '`off`: nothing is checked. `report`: changes are accepted, and the response lists violations in the header ' +
    '`User-Group-Violations`. `enforce`: changes that violate the rule are rejected with 422.',
} as const;
