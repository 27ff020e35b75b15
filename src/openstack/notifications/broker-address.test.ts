import { expect, test } from 'vitest';
import { brokerAddress, brokerText } from './broker-address.ts';

test.each([
  ['172.168.30.30:5672', '172.168.30.30', 5672, false],
  ['rabbit.example.com', 'rabbit.example.com', 5672, false],
  ['rabbit', 'rabbit', 5672, false],
  ['10.0.0.1:5671', '10.0.0.1', 5671, true],
  ['10.0.0.1:80', '10.0.0.1', 80, false],
  ['[fd00::1]:5671', 'fd00::1', 5671, true],
  ['[fd00::1]', 'fd00::1', 5672, false],
  ['amqp://10.0.0.1:5671', '10.0.0.1', 5671, false],
  ['AMQPS://rabbit.example.com', 'rabbit.example.com', 5671, true],
  ['amqps://rabbit.example.com:25671/nova', 'rabbit.example.com', 25671, true],
  ['rabbit://10.0.0.1:5673//', '10.0.0.1', 5673, false],
])('%s is %s, port %i, TLS %s', (text, host, port, tls) => {
  expect(brokerAddress(text)).toEqual({ host, port, tls });
});

test.each([
  'amqp://user:secret@10.0.0.1:5672',
  '[10.0.0.1',
  '',
  ' ',
  'http://10.0.0.1:5672',
  'host:port',
  'a b:5672',
  'host:0',
  '10.0.0.256:5672',
  '[:::]:5672',
  'host:70000',
])('"%s" is none', (text) => {
  expect(brokerAddress(text)).toBeUndefined();
});

test.each(['[fd00::1]:5671', 'rabbit:5672'])('%s is shown as it is', (text) => {
  const address = brokerAddress(text);
  expect(address && brokerText(address)).toBe(text);
});
