import { expect, it } from 'vitest';
import { nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { createOtherController } from './legacy-controller.ts';

const { owns } = createOtherController({
  takeOver: false,
  foreign: () => undefined,
  clock: createFakeClock(new Date()),
});

function withCondition(message: string) {
  const condition = { type: 'OtherControllerActive', status: 'True', message } as const;
  return nodeConfig({ status: { conditions: [condition] } });
}

it.each([
  'the legacy controller wrote the status of worker-1; stop it permanently',
  // Text of earlier releases.
  'the deployed controller wrote the status of worker-1; stop it for good',
])('a stored condition about a repaired status does not block the object: %s', (message) => {
  expect(owns(withCondition(message))).toBeUndefined();
});

it.each([
  'Pod a/b runs the legacy controller: scale its Deployment to 0',
  'Pod a/b runs the deployed controller: scale its Deployment to 0',
])('a stored condition about a past Pod blocks the object with its message: %s', (message) => {
  expect(owns(withCondition(message))).toBe(message);
});
