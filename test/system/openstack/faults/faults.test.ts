import { afterAll, afterEach, beforeAll } from 'vitest';
import { evidenceTests } from './evidence-tests.ts';
import { formTests } from './form-tests.ts';
import { Ground } from './ground.ts';
import { unconfirmedRemovalTests } from './unconfirmed-removal-tests.ts';

// The real operator and real OpenStack: credentials, and evidence for removals.
let ground: Ground;

beforeAll(async () => {
  ground = await Ground.open();
});

afterEach(() => ground.rest());

afterAll(() => ground?.[Symbol.asyncDispose]());

formTests(() => ground);
evidenceTests(() => ground);
unconfirmedRemovalTests(() => ground);
