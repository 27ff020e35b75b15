/** ServiceAccounts of an installation: of each part, and of Viola in a business cluster. */
export const accountNames = {
  operator: 'multinic-operator',
  viola: 'viola-api',
  writer: 'viola',
  controller: 'multinic-agent',
} as const;
