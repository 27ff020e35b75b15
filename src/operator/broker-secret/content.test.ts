import { expect, it } from 'vitest';
import { contentOf, secretName } from './content.ts';

const broker = { username: 'r', password: 'p', hosts: ['10.0.0.1:5672', 'amqps://b'] };

it('what Contrabass says of a broker is said word by word', () => {
  expect(contentOf(broker)).toEqual({
    RABBITMQ_URLS: '10.0.0.1:5672,amqps://b',
    RABBITMQ_USER: 'r',
    RABBITMQ_PASSWORD: 'p',
  });
});

it.each([
  ['nothing', undefined],
  ['no host', { ...broker, hosts: [] }],
  ['no user', { ...broker, username: '' }],
  ['an empty password', { ...broker, password: '' }],
  ['no password', { username: 'r', hosts: broker.hosts }],
])('%s is nothing to connect with', (_name, said) => {
  expect(contentOf(said)).toBeUndefined();
});

it.each([
  ['osc', 'rabbitmq-osc'],
  ['a'.repeat(244), `rabbitmq-${'a'.repeat(244)}`],
  ['a'.repeat(253), `rabbitmq-${'a'.repeat(244)}`],
  [`${'a'.repeat(242)}.-b`, `rabbitmq-${'a'.repeat(242)}`],
])('the Secret of %s has a name that Kubernetes takes', (config, name) => {
  expect(secretName(config)).toBe(name);
});
