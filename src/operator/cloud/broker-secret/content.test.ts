import { expect, it } from 'vitest';
import { contentOf, secretName } from './content.ts';

const broker = { username: 'r', password: 'p', hosts: ['10.0.0.1:5672', 'amqps://b'] };

it("contentOf copies Contrabass' broker data unchanged", () => {
  expect(contentOf(broker)).toEqual({
    RABBITMQ_URLS: '10.0.0.1:5672,amqps://b',
    RABBITMQ_USER: 'r',
    RABBITMQ_PASSWORD: 'p',
  });
});

it.each([
  ['no broker', undefined],
  ['no host', { ...broker, hosts: [] }],
  ['no user', { ...broker, username: '' }],
  ['an empty password', { ...broker, password: '' }],
  ['no password', { username: 'r', hosts: broker.hosts }],
])('contentOf returns undefined for broker data with %s', (_name, data) => {
  expect(contentOf(data)).toBeUndefined();
});

it.each([
  ['osc', 'rabbitmq-osc'],
  ['a'.repeat(244), `rabbitmq-${'a'.repeat(244)}`],
  ['a'.repeat(253), `rabbitmq-${'a'.repeat(244)}`],
  [`${'a'.repeat(242)}.-b`, `rabbitmq-${'a'.repeat(242)}`],
])('the Secret name of OpenstackConfig %s is valid in Kubernetes', (config, name) => {
  expect(secretName(config)).toBe(name);
});
