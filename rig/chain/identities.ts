/** Where operator and Viola run, and keep what is theirs. */
export const home = 'multinic-operator-system';

/** The ServiceAccounts of the parts, as the manifests in `deploy/rbac` name them. */
export const identities = {
  operator: `system:serviceaccount:${home}:multinic-operator`,
  /** In the namespace of its MultiNicOperator. */
  lifecycle: 'system:serviceaccount:multinic-system:multinic-operator',
  viola: `system:serviceaccount:${home}:viola-api`,
  /** Viola in a business cluster. */
  writer: 'system:serviceaccount:multinic-system:viola',
  controller: 'system:serviceaccount:multinic-system:multinic-agent',
} as const;
