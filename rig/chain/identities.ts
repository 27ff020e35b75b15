/** The ServiceAccounts of the parts, as the manifests in `deploy/rbac` name them. */
export const identities = {
  operator: 'system:serviceaccount:multinic-operator-system:multinic-operator',
  viola: 'system:serviceaccount:multinic-operator-system:viola-api',
  /** Viola in a business cluster. */
  writer: 'system:serviceaccount:multinic-system:viola',
  controller: 'system:serviceaccount:multinic-system:multinic-agent',
} as const;
