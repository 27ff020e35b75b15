/**
 * Schema version per definition, incremented whenever fields are added. API servers silently drop unknown fields.
 * Each part therefore compares this number with the annotation `multinic.io/schema` on the installed definition.
 */
export const schemaNumbers = {
  'openstackconfigs.multinic.example.com': 4,
  'multinicnodeconfigs.multinic.io': 9,
  'multinicoperators.multinic.example.com': 1,
  'multinicbizconfigs.multinic.io': 1,
  'multinicbizconfigs.multinic.okestro.io': 1,
} as const;

/** Name of a MultiNIC CustomResourceDefinition. */
export type DefinitionName = keyof typeof schemaNumbers;
