/** ServiceAccounts in an installation: for each part, and for Viola in a business cluster. */
export const accountNames = {
  operator: 'multinic-operator',
  viola: 'viola-api',
  /** ServiceAccount in an installation by lifecycle, where the operator has a separate account. */
  lifecycle: 'multinic-operator',
  managedOperator: 'multinic-controller',
  writer: 'viola',
  controller: 'multinic-agent',
} as const;
