/**
 * How often fields were added to the schema of a kind, by the name of its definition. Raise it with every such change: a part
 * compares it with the annotation `multinic.io/schema` of the definition that is installed, because an API server drops fields
 * that it does not know without a word.
 */
export const schemaNumbers = {
  'openstackconfigs.multinic.example.com': 3,
  'multinicnodeconfigs.multinic.io': 8,
  'multinicoperators.multinic.example.com': 1,
  'multinicbizconfigs.multinic.io': 1,
  'multinicbizconfigs.multinic.okestro.io': 1,
} as const;

/** Name of one of our CustomResourceDefinitions. */
export type DefinitionName = keyof typeof schemaNumbers;
