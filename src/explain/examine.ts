import type { SystemFacts } from './facts.ts';
import type { SectionReport, SystemSection } from './finding.ts';
import { sections } from './finding.ts';
import { examineDelivery } from './sections/delivery.ts';
import { examineBootFiles, examineNetwork } from './sections/network.ts';
import { examineNodes } from './sections/nodes.ts';
import { examineOpenstack } from './sections/openstack.ts';
import { examineParts } from './sections/parts.ts';

const examiners: Readonly<Record<SystemSection, (facts: SystemFacts) => SectionReport>> = {
  parts: examineParts,
  openstack: examineOpenstack,
  delivery: examineDelivery,
  nodes: examineNodes,
  network: examineNetwork,
  bootFiles: examineBootFiles,
};

/** Examines the whole system; returns a report per name in `sections`, in the same order, errors first. */
export function examine(facts: SystemFacts): SectionReport[] {
  return sections.map((section) => examiners[section](facts));
}
