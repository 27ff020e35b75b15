import type { Version } from './process/about.ts';
import { type Part, type PartName, part, runPartProcess } from './runtime/part-process.ts';

/** Loads parts lazily: a process loads only its own modules. */
const parts: Readonly<Record<PartName, () => Promise<Part>>> = {
  operator: async () => {
    const { operatorSettings } = await import('./operator/model/settings/operator.ts');
    const { startOperator } = await import('./operator/start.ts');
    const { inventorySettings } = await import('./inventory/settings.ts');
    const { startInventory } = await import('./inventory/start.ts');
    return part({ ...operatorSettings, ...inventorySettings }, (values, context, signal) =>
      startOperator(values, context, signal, (inventory, ended) =>
        startInventory(values, context, inventory, ended),
      ),
    );
  },
  viola: async () => {
    const { violaSettings } = await import('./viola/settings.ts');
    const { startViola } = await import('./viola/start.ts');
    return part(violaSettings, startViola);
  },
  controller: async () => {
    const { controllerSettings } = await import('./controller/settings.ts');
    const { startController } = await import('./controller/start.ts');
    return part(controllerSettings, startController);
  },
  lifecycle: async () => {
    const { lifecycleSettings } = await import('./lifecycle/settings.ts');
    const { startLifecycle } = await import('./lifecycle/start.ts');
    return part(lifecycleSettings, startLifecycle);
  },
};

/** A loaded part with all its modules. */
export type Loaded = (about: string, version: Version, argv: readonly string[]) => Promise<number>;

export async function loadPart(name: PartName): Promise<Loaded> {
  const { [name]: load } = parts;
  const loaded = await load();
  return (about, version, argv) => runPartProcess(name, loaded, about, version, argv);
}
