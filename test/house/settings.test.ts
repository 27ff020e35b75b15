import { expect, it } from 'vitest';
import { controllerSettings } from '../../src/controller/settings.ts';
import { inventorySettings } from '../../src/inventory/settings.ts';
import { operatorSettings } from '../../src/operator/settings.ts';
import { describeSettings, type Settings } from '../../src/process/settings.ts';
import { violaSettings } from '../../src/viola/settings.ts';

const parts: Readonly<Record<string, readonly [Settings, Readonly<Record<string, string>>]>> = {
  operator: [{ ...operatorSettings, ...inventorySettings }, {}],
  viola: [violaSettings, { 'tokens-file': '/tokens.yaml' }],
  controller: [controllerSettings, {}],
};

it.each(Object.entries(parts))(
  '%s shows each setting as what it is',
  (_name, [settings, flags]) => {
    const shown = describeSettings(settings, { env: {}, flags });
    expect(Object.keys(shown)).toEqual(Object.keys(settings));
    expect(JSON.parse(JSON.stringify(shown))).toEqual(shown);
  },
);
