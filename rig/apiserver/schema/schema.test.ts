import { describe, expect, it } from 'vitest';
import { withDefaults } from './defaults.ts';
import { prune } from './prune.ts';
import { type Schema, schemaEdge } from './schema.ts';
import { validate } from './validate.ts';

const nic: Schema = {
  type: 'object',
  required: ['portId'],
  properties: {
    portId: { type: 'string', minLength: 1, format: 'uuid' },
    mtu: { type: 'integer', minimum: 68, maximum: 9000, default: 1500 },
    name: { type: 'string', pattern: '^multinic[0-9]$', maxLength: 9 },
    mode: { type: 'string', enum: ['pbr', 'main'] },
    gateway: { type: 'string', nullable: true },
    size: { 'x-kubernetes-int-or-string': true },
  },
};
const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      default: {},
      properties: {
        nics: {
          type: 'array',
          maxItems: 2,
          items: nic,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['portId'],
        },
        labels: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 1 },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        routing: { type: 'string', default: 'pbr' },
      },
    },
  },
};
const port = '0d9f3f4e-53a8-4f7b-8f63-0d8a4f0b7a01';
const withNics = (...nics: readonly object[]) => ({ spec: { nics } }) as never;

describe('validate', () => {
  it.each([
    [{ portId: 7 }, 'FieldValueTypeInvalid', 'portId', 'must be of type string: "integer"'],
    [{}, 'FieldValueRequired', 'portId', 'Required value'],
    [{ portId: 'x' }, 'FieldValueTypeInvalid', 'portId', 'must be of type uuid: "x"'],
    [{ portId: port, mtu: 67 }, 'FieldValueInvalid', 'mtu', 'greater than or equal to 68'],
    [{ portId: port, mtu: 9001 }, 'FieldValueInvalid', 'mtu', 'less than or equal to 9000'],
    [{ portId: port, mtu: 1.5 }, 'FieldValueTypeInvalid', 'mtu', 'of type integer: "number"'],
    [{ portId: port, name: 'eth0' }, 'FieldValueInvalid', 'name', "should match '^multinic[0-9]$'"],
    [{ portId: port, mode: 'x' }, 'FieldValueNotSupported', 'mode', 'values: "pbr", "main"'],
    [{ portId: port, mode: null }, 'FieldValueTypeInvalid', 'mode', 'of type string: "null"'],
    [{ portId: port, size: true }, 'FieldValueTypeInvalid', 'size', 'integer,string'],
  ])('names field and rule for %j', (value, reason, field, message) => {
    const causes = validate(withNics(value), schema);
    expect(causes).toEqual([
      {
        reason,
        field: `spec.nics[0].${field}`,
        message: expect.stringContaining(message) as string,
      },
    ]);
  });

  it('accepts null only where the schema says nullable', () => {
    expect(validate(withNics({ portId: port, gateway: null }), schema)).toEqual([]);
  });

  it('refuses a second list entry with the same key, and more entries than allowed', () => {
    const causes = validate(withNics({ portId: port }, { portId: port }, { portId: port }), schema);
    expect(causes.map((cause) => cause.reason)).toEqual([
      'FieldValueTooMany',
      'FieldValueDuplicate',
      'FieldValueDuplicate',
    ]);
  });

  it('checks the values of a map and how many there are', () => {
    const causes = validate({ spec: { labels: { a: 'b', c: 1 } } }, schema);
    expect(causes.map((cause) => cause.field)).toEqual(['spec.labels', 'spec.labels.c']);
  });
});

describe('prune', () => {
  it('drops unlisted fields at any depth and keeps maps and open objects', () => {
    const spec = {
      nics: [{ portId: port, colour: 'red' }],
      labels: { a: 'b' },
      free: { any: { thing: 1 } },
      extra: true,
    };
    expect(prune({ spec, more: 1 }, schema)).toEqual({
      spec: { nics: [{ portId: port }], labels: { a: 'b' }, free: { any: { thing: 1 } } },
    });
  });
});

describe('withDefaults', () => {
  it('fills absent fields, also below a parent that only exists by default', () => {
    expect(withDefaults({}, schema)).toEqual({ spec: { routing: 'pbr' } });
    const one = withNics({ portId: port }, { portId: port, mtu: null });
    expect(withDefaults(one, schema)).toEqual({
      spec: {
        routing: 'pbr',
        nics: [
          { portId: port, mtu: 1500 },
          { portId: port, mtu: 1500 },
        ],
      },
    });
  });
});

describe('schemaEdge', () => {
  it('reads nested schemas and refuses a keyword of the wrong type', () => {
    const written = JSON.parse(JSON.stringify(schema)) as unknown;
    expect(schemaEdge.parse(written)).toEqual(schema);
    expect(schemaEdge.safeParse({ properties: { a: { minLength: 'x' } } }).success).toBe(false);
  });
});
