import { describe, expect, it } from 'vitest';
import { claimsOf, type Right } from '../../src/kube/rights.ts';
import { type Request, useOf } from './used.ts';

const why = { en: '', ko: '' };
const rights: readonly Right<'agents' | 'cluster'>[] = [
  { group: 'batch', resource: 'jobs', verbs: ['list', 'create'], where: 'agents', why },
  { group: '', resource: 'nodes', verbs: ['get'], where: 'cluster', why },
  { group: '', resource: 'secrets', names: ['a', 'b'], verbs: ['create'], where: 'agents', why },
];
const claims = claimsOf(rights, { agents: ['ns'], cluster: 'cluster' });

function asked(verb: string, resource: string, more: Partial<Request> = {}): Request {
  return { user: 'me', verb, group: '', resource, status: 200, namespace: 'ns', ...more };
}

const all = [
  asked('list', 'jobs', { group: 'batch' }),
  asked('create', 'jobs', { group: 'batch', name: 'as-the-audit-log-fills-it-in' }),
  asked('get', 'nodes', { namespace: '', name: 'n1' }),
  asked('patch', 'secrets', { name: 'a', status: 201 }),
  asked('patch', 'secrets', { name: 'b', status: 201 }),
];

describe('what an identity did, beside what it may', () => {
  it('uses each right, and its applies are patches that nothing here grants', () => {
    expect(useOf(all, 'me', claims)).toEqual({
      unused: [],
      refused: [],
      beyond: ['patch secrets of a in ns', 'patch secrets of b in ns'],
    });
  });

  it.each([
    [0, 'list jobs.batch in ns'],
    [1, 'create jobs.batch in ns'],
    [2, 'get nodes'],
    [3, 'create secrets of a in ns'],
  ])('lacks request %i: %s is not used', (at, unused) => {
    expect(useOf(all.toSpliced(at, 1), 'me', claims).unused).toEqual([unused]);
  });

  it.each([
    ['of another user', { user: 'you' }],
    ['in another namespace', { namespace: 'other' }],
    ['of a subresource', { subresource: 'status' }],
    ['that was refused', { status: 403 }],
    ['with a token that is not known', { status: 401 }],
  ])('a request %s uses no right', (_, change) => {
    const requests = all.toSpliced(0, 1, asked('list', 'jobs', { group: 'batch', ...change }));
    expect(useOf(requests, 'me', claims).unused).toEqual(['list jobs.batch in ns']);
  });

  it('tells of what was refused, and of what something else lets through', () => {
    const requests = [
      asked('delete', 'jobs', { group: 'batch', name: 'j', status: 403 }),
      asked('get', 'jobs', { group: 'batch', subresource: 'status', name: 'j', status: 404 }),
      asked('create', 'secrets', { name: 'a', status: 201 }),
    ];
    const { refused, beyond } = useOf(requests, 'me', claims);
    expect(refused).toEqual(['delete jobs.batch of j in ns']);
    // A POST is decided before its name is known.
    expect(beyond).toEqual(['create secrets in ns', 'get jobs.batch/status of j in ns']);
  });

  it('takes what is made of an object by its name', () => {
    const token: Right<'agents'> = {
      group: '',
      resource: 'serviceaccounts/token',
      names: ['me'],
      verbs: ['create'],
      where: 'agents',
      why,
    };
    const made = { subresource: 'token', name: 'me', status: 201 };
    expect(
      useOf(
        [asked('create', 'serviceaccounts', made)],
        'me',
        claimsOf([token], { agents: ['ns'] }),
      ),
    ).toEqual({ unused: [], refused: [], beyond: [] });
  });

  it('leaves out what every identity may do', () => {
    const requests = [
      asked('get', '', { namespace: '' }),
      asked('create', 'selfsubjectaccessreviews', { group: 'authorization.k8s.io' }),
    ];
    expect(useOf(requests, 'me', []).beyond).toEqual([]);
  });
});
