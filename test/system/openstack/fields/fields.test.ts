import { afterAll, beforeAll } from 'vitest';
import { accountTests } from './account-tests.ts';
import { Place } from './place.ts';
import { selectionTests } from './selection-tests.ts';
import { settingTests } from './setting-tests.ts';
import { whatIfTests } from './what-if-tests.ts';

// Effect of each OpenstackConfig field on real Keystone, Neutron, Nova and API servers; test/requirements/fields.ts lists the fields.
let place: Place;

beforeAll(async () => {
  place = await Place.open();
});

afterAll(() => place?.[Symbol.asyncDispose]());

selectionTests(() => place);
accountTests(() => place);
settingTests(() => place);
whatIfTests(() => place);
