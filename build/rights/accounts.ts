/** ServiceAccounts of an installation: of each part, and of Viola in a business cluster. */
export const accountNames = {
  operator: 'multinic-operator',
  viola: 'viola-api',
  /** In an installation by lifecycle, where the operator has an account of its own. */
  lifecycle: 'multinic-operator',
  managedOperator: 'multinic-controller',
  writer: 'viola',
  controller: 'multinic-agent',
} as const;
