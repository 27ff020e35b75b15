import { controllerSettings } from '../src/controller/settings.ts';
import { inventorySettings } from '../src/inventory/settings.ts';
import { lifecycleSettings } from '../src/lifecycle/settings.ts';
import { operatorSettings } from '../src/operator/model/settings/operator.ts';
import { commonSettings } from '../src/process/common-settings.ts';
import type { Settings } from '../src/process/settings.ts';
import { violaSettings } from '../src/viola/settings.ts';

/** Settings of each part, as in `multinic PART --help`. */
export const settingsOfParts = {
  operator: { ...operatorSettings, ...inventorySettings, ...commonSettings },
  viola: { ...violaSettings, ...commonSettings },
  controller: { ...controllerSettings, ...commonSettings },
  lifecycle: { ...lifecycleSettings, ...commonSettings },
} satisfies Readonly<Record<string, Settings>>;
