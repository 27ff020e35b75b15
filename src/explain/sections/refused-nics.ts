import type { NicView, NodeView } from '../../api/read-http.ts';
import { rowOf } from '../../api/reasons.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { existingNicsTexts } from '../../api/texts/existing-nics.ts';
import { amount, filled, type Wording } from '../../api/texts/text.ts';
import { adoptStep } from '../adoption.ts';
import { multinic } from '../commands.ts';
import type { AffectedNic } from '../finding.ts';
import { ofNic } from '../nic-code.ts';
import {
  type ConfiguringFile,
  fileBehind,
  fileName,
  isObstacle,
  isRefused,
  releaseStep,
} from '../obstacles.ts';
import type { NextStep } from '../step.ts';
import { isObserved, nodeKey } from '../subject.ts';
import { joined, same } from '../wording.ts';
import { type Checked, error, warning } from './check.ts';

type OpenFinding = Checked['findings'][number];

/** NIC with an agent's refusal; on an observed node an apply would refuse the NIC. */
interface RefusedNic {
  readonly node: NodeView;
  readonly nic: NicView;
  readonly reason: string;
  readonly file: ConfiguringFile | undefined;
}

type RefusedNics = readonly [RefusedNic, ...RefusedNic[]];

/**
 * Returns a finding per cause: a business cluster's nodes with the same obstacle share a finding. Adoptable files
 * share a finding, too: cloud-init may write a file per NIC.
 */
export function refusedNics(nodes: readonly NodeView[]): OpenFinding[] {
  const byCause = Map.groupBy(nodes.flatMap(refusedOn), causeOf);
  const groups = Map.groupBy(byCause.entries(), ([cause, group]) => consentFor(group) ?? cause);
  return [...groups.values()].flatMap((causes) => {
    const [first, ...rest] = causes.flatMap(([, group]) => group);
    return first === undefined ? [] : findingOf([first, ...rest]);
  });
}

/** Returns a node's NICs with own reasons; empty: none, or the node's reason applies to every NIC. */
function refusedOn(node: NodeView): RefusedNic[] {
  const isFailed = node.ready === 'False';
  const isOfNode = rowOf(node.reason)?.scope === 'node' && node.reason !== 'InvalidEntries';
  if (isFailed && isOfNode) return [];
  const open = node.nics.filter((nic) =>
    isFailed ? nic.state !== 'Configured' : nic.state === 'Failed' || isRefused(nic),
  );
  return open.map((nic) => {
    const reason = nic.reason || node.reason || 'NICsNotConfigured';
    return { node, nic, reason, file: fileBehind(reason, nic) };
  });
}

/** Returns equal texts for the same cause. Only obstacles have a cause beyond their node. */
function causeOf({ node, nic, reason, file }: RefusedNic): string {
  const { providerId, nodeName } = node;
  const cause = file ? fileName(file.path) : nic.code;
  const place = isObstacle(reason) ? [providerId, cause ?? ''] : [providerId, nodeName, ''];
  return JSON.stringify([reason, isObserved(node), ...place]);
}

/** Returns equal texts for groups with the same consent to adoption; undefined: no NIC is adoptable. */
function consentFor(group: readonly RefusedNic[]): string | undefined {
  const [first] = group;
  if (!first || !adoptStep(group)) return undefined;
  return JSON.stringify([first.reason, isObserved(first.node), first.node.providerId]);
}

function findingOf(group: RefusedNics): OpenFinding {
  const [{ node, reason }] = group;
  const make = isObserved(node) ? warning : error;
  const nodes = [...new Set(group.map((each) => nodeKey(each.node)))];
  const next = nextOf(group, nodes.length);
  const finding =
    nodes.length === 1
      ? make(nodeKey(node), reason, joined(group.map(textOf)), next)
      : make(node.providerId, reason, sharedText(group, nodes.length), next);
  return { ...finding, affected: group.map(affectedNic) };
}

function textOf({ nic, reason }: RefusedNic): Wording {
  return filled(doctorTexts.ofNic, { name: nic.name, text: ofNic(reason, nic) });
}

function affectedNic({ node, nic, file }: RefusedNic): AffectedNic {
  return {
    node: nodeKey(node),
    nic: nic.name,
    ...(file === undefined ? {} : { file: file.path }),
    ...(file?.section === undefined ? {} : { section: file.section }),
  };
}

/** Named examples per finding. */
const shownExamples = 3;

function sharedText(group: RefusedNics, count: number): Wording {
  const [first] = group;
  const nodes = amount(count, 'node');
  const nics = amount(group.length, 'NIC');
  if (first.file === undefined) {
    const nic = `${first.node.nodeName}/${first.nic.name}`;
    const text = ofNic(first.reason, first.nic);
    return filled(existingNicsTexts.refusedOnNodes, { nodes, nics, nic, text });
  }
  const names = namesOf(group);
  const files = new Set(group.flatMap(({ file }) => (file ? fileName(file.path) : [])));
  if (files.size > 1) {
    return filled(existingNicsTexts.filesOnNodes, { nodes, nics, files: examples(files), names });
  }
  const file = examples(files);
  const sections = sectionsOf(group);
  return filled(existingNicsTexts.fileOnNodes, { nodes, nics, file, sections, names });
}

function sectionsOf(group: RefusedNics): Wording {
  const all = new Set(group.flatMap(({ file }) => file?.section ?? []));
  return all.size === 0 ? same('') : filled(existingNicsTexts.sections, { list: examples(all) });
}

function examples(all: ReadonlySet<string>): Wording {
  const more = all.size > shownExamples ? existingNicsTexts.moreExamples : same('');
  return joined([same([...all].slice(0, shownExamples).join(', ')), more], '');
}

function namesOf(group: RefusedNics): Wording {
  const all = [...new Set(group.map(({ node }) => node.nodeName))];
  const names = all.slice(0, shownExamples).join(', ');
  const count = all.length - shownExamples;
  return count <= 0 ? same(names) : filled(existingNicsTexts.moreNodes, { names, count });
}

/** Returns the file's change, or the consent to adopt it, otherwise the reason's action with a command about the NIC or all NICs. */
function nextOf(group: RefusedNics, nodes: number): NextStep {
  const [{ node, nic, reason, file }] = group;
  const adopt = adoptStep(group);
  if (adopt) return adopt;
  if (file) return releaseStep(file, nodeKey(node));
  const text = rowOf(reason)?.action ?? doctorTexts.lookAtNic;
  const command =
    nodes === 1
      ? multinic('why', `${node.nodeName}/${nic.name}`)
      : multinic('nics', '--reason', reason);
  return { text, commands: [command], preview: [] };
}
