/** Commands that grant missing rights; an administrator of the cluster runs them. */

export function grantView(user: string): string {
  return `kubectl create clusterrolebinding multinic-view-${word(user)} --clusterrole=multinic-view --user=${quoted(user)}`;
}

export function grantEdit(user: string): string {
  return `kubectl create clusterrolebinding multinic-edit-${word(user)} --clusterrole=multinic-edit --user=${quoted(user)}`;
}

/** Port-forward to the operator, its Pods and its Lease. */
export function grantReader(namespace: string): (user: string) => string {
  return (user) =>
    `kubectl -n ${namespace} create rolebinding multinic-reader-${word(user)} --role=multinic-reader --user=${quoted(user)}`;
}

/** Reads in a business cluster: its role is created first, because `view` has no Nodes. */
export function grantBusiness(flags: string): (user: string) => string {
  const kubectl = `kubectl ${flags} create`;
  const resources =
    'nodes,deployments.apps,jobs.batch,pods,pods/log,multinicnodeconfigs.multinic.io';
  return (user) =>
    `${kubectl} clusterrole multinic-reader --verb=get,list --resource=${resources} && ${kubectl} clusterrolebinding multinic-reader-${word(user)} --clusterrole=multinic-reader --user=${quoted(user)}`;
}

/** ConfigMaps in a business cluster, including kubeadm-config. */
export function grantConfigMaps(flags: string): (user: string) => string {
  return (user) =>
    `kubectl ${flags} create clusterrolebinding multinic-networks-${word(user)} --clusterrole=view --user=${quoted(user)}`;
}

function word(user: string): string {
  return (
    user
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || 'user'
  );
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
