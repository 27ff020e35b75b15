import type { Node } from '../../src/kube/core-resources.ts';
import type { Draft } from '../../src/kube/object.ts';

/** What the stand-in kubelet says about its machine. */
export interface NodeFacts {
  readonly name: string;
  readonly systemUUID: string;
  readonly bootId: string;
  /** What the host's /etc/machine-id holds; empty when there is none. */
  readonly machineId: string;
  readonly internalIp: string | undefined;
  readonly osImage?: string | undefined;
  readonly ready: boolean;
  /** RFC 3339. */
  readonly now: string;
  /** When `ready` became what it is. */
  readonly since: string;
}

const version = 'v1.37.1-standin';
/** A scheduler puts nothing onto a Node that has no room. */
const amount = { cpu: '16', memory: '64Gi', pods: '110' };
const room = { capacity: amount, allocatable: amount };

const noMachine = 'a stand-in kubelet, no machine of its own';

/** The Node as a kubelet registers it. */
export function nodeObject({ name }: NodeFacts): Draft<Node> {
  const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' };
  return { metadata: { name, labels } };
}

/** The Node's status, whole: what is not in it any more is removed. */
export function nodeStatus(facts: NodeFacts): Draft<Node> {
  const { name, systemUUID, bootId, machineId, internalIp, osImage = noMachine } = facts;
  const nodeInfo = {
    systemUUID,
    bootID: bootId,
    machineID: machineId,
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    operatingSystem: 'linux',
    osImage,
    kernelVersion: 'unknown',
    kubeletVersion: version,
    kubeProxyVersion: '',
    containerRuntimeVersion: 'process://1',
  };
  const addresses = [
    ...(internalIp === undefined ? [] : [{ type: 'InternalIP', address: internalIp }]),
    { type: 'Hostname', address: name },
  ];
  const conditions = [ready(facts)];
  return { metadata: { name }, status: { nodeInfo, addresses, conditions, ...room } };
}

function ready({ ready: isReady, now, since }: NodeFacts) {
  return {
    type: 'Ready',
    status: isReady ? 'True' : 'False',
    reason: isReady ? 'KubeletReady' : 'KubeletNotReady',
    message: isReady ? 'the stand-in kubelet takes Pods' : 'told to be not ready',
    lastHeartbeatTime: now,
    lastTransitionTime: since,
  };
}
