/**
 * Every write that leaves a process, by name. A fault suite stops a part before and after each of them, so a write that
 * is not in this list is one that nobody has crashed on.
 */
export const effects = [
  'operator.finalizer.add',
  'operator.finalizer.remove',
  'operator.status.write',
  'operator.trigger.write',
  'operator.node-config.post',
  'operator.node-config.delete',
  'operator.inventory.write',
  'operator.lease.write',
  'operator.event.write',
  'operator.broker-secret.write',
  'operator.viola-ca.write',
  'operator.viola-certificate.write',
  'operator.viola-token.write',
  'operator.viola-grants.write',
  'viola.node-config.apply',
  'viola.node-config.consent',
  'viola.node-config.delete',
  'viola.token.request',
  'viola.token.store',
  'controller.finalizer.add',
  'controller.finalizer.remove',
  'controller.job.create',
  'controller.config-map.create',
  'controller.job.unsuspend',
  'controller.job.delete',
  'controller.status.write',
  'controller.lease.write',
  'controller.event.write',
  'agent.state.write',
  'agent.journal.write',
  'agent.journal.remove',
  'agent.kernel.batch',
  'agent.file.stage',
  'agent.file.commit',
  'agent.file.remove',
  'agent.result.write',
] as const;

export type Effect = (typeof effects)[number];
