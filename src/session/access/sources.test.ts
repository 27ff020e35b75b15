import { expect, it } from 'vitest';
import { choiceOf, chosenProviders, flagsTo, requiredSource } from './sources.ts';

const options = {
  kubeconfig: '/k/management',
  context: 'prod',
  businessContext: new Map([
    ['biz-1', 'one'],
    ['biz-2', 'two'],
  ]),
  businessKubeconfig: new Map([
    ['biz-2', '/k/biz 2'],
    ['biz-3', '/k/biz-3'],
  ]),
};

it.each([
  [undefined, { kubeconfig: '/k/management', context: 'prod' }, 'context prod', undefined],
  [
    'biz-1',
    { kubeconfig: '/k/management', context: 'one' },
    'context one',
    '--kubeconfig /k/management --context one',
  ],
  [
    'biz-2',
    { kubeconfig: '/k/biz 2', context: 'two' },
    'context two',
    "--kubeconfig '/k/biz 2' --context two",
  ],
  ['biz-3', { kubeconfig: '/k/biz-3', context: undefined }, '/k/biz-3', '--kubeconfig /k/biz-3'],
  ['biz-4', undefined, undefined, '--context CONTEXT'],
] as const)('the access to cluster %s has its kubeconfig, place and flags', (...row) => {
  const [provider, choice, place, flags] = row;
  expect(choiceOf(options, provider)).toEqual(choice);
  const source = provider === undefined ? 'management cluster' : 'business cluster';
  const required = requiredSource(options, { source, provider, operatorPlace: '' });
  expect(required?.place).toBe(place);
  if (provider !== undefined) expect(flagsTo(options, provider)).toBe(flags);
});

it('chosenProviders names each business cluster with a context or a kubeconfig once', () => {
  expect(chosenProviders(options)).toEqual(['biz-1', 'biz-2', 'biz-3']);
});
