/**
 * Schema version per definition, incremented whenever fields are added. API servers silently drop unknown fields.
 * Each part therefore compares this number with the annotation `multinic.io/schema` on the installed definition.
 */
export const schemaNumbers = {
  'openstackconfigs.multinic.example.com': 10,
  'multinicnodeconfigs.multinic.io': 17,
  'multinicoperators.multinic.example.com': 2,
  'multinicbizconfigs.multinic.io': 3,
  'multinicbizconfigs.multinic.okestro.io': 3,
} as const;

/** Name of a MultiNIC CustomResourceDefinition. */
export type DefinitionName = keyof typeof schemaNumbers;
