// Commands of the runbooks, with the names that the charts install.

export const operatorNamespace = 'multinic-operator-system';
export const systemNamespace = 'multinic-system';
export const agentsNamespace = 'multinic-agents';

/** Commands that print the logs of all replicas. */
export const logs = {
  operator: logsOf(operatorNamespace, 'operator'),
  viola: logsOf(operatorNamespace, 'viola'),
  controller: logsOf(systemNamespace, 'controller'),
  lifecycle: logsOf(systemNamespace, 'lifecycle'),
} as const;

function logsOf(namespace: string, component: string): string {
  const selector = `app.kubernetes.io/part-of=multinic,app.kubernetes.io/component=${component}`;
  return `kubectl -n ${namespace} logs -l ${selector} --prefix --tail=200`;
}

export const pods = {
  operator: `kubectl -n ${operatorNamespace} get pods -o wide`,
  controller: `kubectl -n ${systemNamespace} get pods -o wide`,
} as const;

export const openstackConfigs = 'kubectl get openstackconfigs -A -o wide';
export const nodeConfigs = `kubectl -n ${systemNamespace} get multinicnodeconfigs -o wide`;
export const jobs = `kubectl -n ${agentsNamespace} get jobs,pods -o wide`;
export const agentEvents = `kubectl -n ${agentsNamespace} get events --sort-by=.lastTimestamp`;
