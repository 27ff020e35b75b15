import { filled, type Wording } from '../../api/texts/text.ts';
import { whyTexts } from '../../api/texts/why.ts';
import type { CheckWarning } from '../checks/check-warning.ts';
import { nodeWarnings } from '../checks/kubernetes-node.ts';
import { mtuDifferences } from '../checks/mtu.ts';
import { adminDown, downButUp } from '../checks/port-state.ts';
import { versionSkews } from '../checks/versions.ts';
import { type Fact, type Missing, missingText } from '../fact.ts';
import { nodeKey, type Subject, valueOf } from '../subject.ts';
import { joined, same } from '../wording.ts';
import { type Outcome, ok, skippedFor, warn } from './outcome.ts';

/** Result from a check: warnings, or the missing fact. */
interface Checked {
  readonly warnings: readonly CheckWarning[];
  readonly unread?: Missing | undefined;
}

/** Explains risks for the NIC's traffic. */
export function environment(subject: Subject): Outcome {
  const checks = [admin(subject), carrier(subject), address(subject), mtu(subject), skew(subject)];
  const warnings = checks.flatMap((check) => check.warnings);
  const unread = checks.flatMap((check) => check.unread ?? []);
  const [first] = warnings;
  if (first) {
    return { ...warn(first.reason, evidenceOf(warnings, unread), first.next), missing: unread };
  }
  const [missing, ...others] = unread;
  if (!missing) {
    const evidence = whyTexts.allAgree;
    return ok(evidence);
  }
  return skippedFor(joined(textsOf(unread)), [missing, ...others]);
}

function evidenceOf(warnings: readonly CheckWarning[], unread: readonly Missing[]): Wording {
  const notChecked = textsOf(unread).map(({ en, ko }) =>
    filled(whyTexts.notChecked, { text: { en, ko } }),
  );
  return joined([...warnings.map(({ evidence }) => evidence), ...notChecked]);
}

/** Returns each missing fact once. */
function textsOf(unread: readonly Missing[]): Wording[] {
  return [...new Map(unread.map(missingText).map((text) => [text.en, text])).values()];
}

function missingIn(...facts: readonly Fact<unknown>[]): Checked | undefined {
  const unread = facts.find((fact) => fact.state === 'unread');
  return unread?.state === 'unread' ? { warnings: [], unread } : undefined;
}

function admin({ facts, port }: Subject): Checked {
  const missing = missingIn(facts.port);
  if (missing || !port) return missing ?? { warnings: [] };
  // A disabled port is never ACTIVE.
  if (port.adminStateUp === undefined && port.status !== 'ACTIVE') {
    const unread = {
      what: filled(whyTexts.adminStateOf, { portId: port.portId }),
      why: whyTexts.notRead,
      next: same(`openstack port show ${port.portId} -c admin_state_up`),
    };
    return { warnings: [], unread };
  }
  return { warnings: adminDown(port) };
}

function carrier({ facts, port, nic }: Subject): Checked {
  const missing = missingIn(facts.port, facts.node);
  if (missing || !port || nic?.state !== 'Configured') return missing ?? { warnings: [] };
  if (port.status === 'DOWN' && nic.carrier === undefined) {
    const unread = {
      what: filled(whyTexts.carrierOf, { name: nic.name }),
      why: whyTexts.carrierNotReported,
      next: whyTexts.upgradeForCarrier,
    };
    return { warnings: [], unread };
  }
  return { warnings: downButUp({ ...nic, portId: port.portId }, port.status) };
}

/** Without a NIC no address exists to compare. */
function address({ facts, node, nic }: Subject): Checked {
  const missing = missingIn(facts.node);
  if (missing || !node || !nic) return missing ?? { warnings: [] };
  const unread = missingIn(facts.kubernetesNode);
  if (unread) return unread;
  return { warnings: nodeWarnings({ ...node, nics: [nic] }, valueOf(facts.kubernetesNode)) };
}

function mtu({ facts, node, nic }: Subject): Checked {
  if (!node || !nic) return { warnings: [] };
  const unread = missingIn(facts.neighbours);
  if (unread) return unread;
  const others = (valueOf(facts.neighbours) ?? []).filter(
    (each) => nodeKey(each) !== nodeKey(node),
  );
  const differences = mtuDifferences([node, ...others]);
  return {
    warnings: differences.filter(({ different }) =>
      different.some((each) => each.nic === nic && each.node === node),
    ),
  };
}

/** The CLI's own version changes nothing on a node. */
function skew({ facts, port, node }: Subject): Checked {
  const missing = missingIn(facts.versions);
  if (missing) return missing;
  const provider = port?.node?.providerId ?? node?.providerId;
  const versions = valueOf(facts.versions) ?? [];
  const skews = versionSkews(versions).filter(
    ({ part }) =>
      part.part !== 'cli' && (part.providerId === undefined || part.providerId === provider),
  );
  const controller = facts.controllers.get(provider ?? '');
  return { ...(controller && missingIn(controller)), warnings: skews };
}
