import * as z from 'zod';
import { openstackConfigSpec, settings } from '../../../api/openstackconfig.ts';
import type { FieldError } from '../../../http/problem.ts';
import { HttpProblem } from '../../../http/problem.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';

const { subnetIDs, subnetID, subnetName, vmNames, vmSelector } = openstackConfigSpec.shape;
const { openstackPortAllowedStatuses, portBaseline, addressFamilies } = settings.shape;
const { maxInterfaces, routing, mode, existingConfiguration } = settings.shape;

const editableSettings = {
  openstackPortAllowedStatuses,
  portBaseline,
  addressFamilies,
  maxInterfaces,
  routing,
  mode,
  existingConfiguration,
};
const editableFields = { subnetIDs, subnetID, subnetName, vmNames, vmSelector };

/** Fields for request targets, TLS verification and secrets: a new target would receive credentials. */
const fieldsOfTargets: ReadonlySet<string> = new Set([
  'credentials',
  'secrets',
  'settings.contrabassEndpoint',
  'settings.contrabassEncryptKey',
  'settings.contrabassInsecureTLS',
  'settings.violaEndpoint',
  'settings.violaCompatibility',
  'settings.openstackInsecureTLS',
  'settings.openstackNeutronEndpoint',
  'settings.openstackNovaEndpoint',
  'settings.openstackEndpointInterface',
  'settings.openstackEndpointRegion',
]);

const nullable = (shape: z.ZodRawShape): z.ZodRawShape =>
  Object.fromEntries(Object.entries(shape).map(([key, schema]) => [key, z.nullable(schema)]));

/** What-if body: spec fields to replace; null removes a field. */
export const editBody = z
  .looseObject({
    ...nullable(editableFields),
    settings: z.looseObject(nullable(editableSettings)).optional(),
  })
  .describe('Fields of spec to replace; null removes a field.');

type Fields = Readonly<Record<string, unknown>>;

/** Spec fields to replace. */
export interface Edit {
  readonly fields: Fields;
  readonly settings: Fields;
}

/** Reads a what-if's body. Throws 422 with every field outside the editable fields, or with a wrong value. */
export function readEdit(body: unknown): Edit {
  if (!isFields(body)) throw refused([{ field: '', message: 'send a JSON object' }]);
  const { settings: given = {}, ...fields } = body;
  if (!isFields(given)) throw refused([{ field: 'settings', message: 'must be an object' }]);
  const unknown = [
    ...unknownIn(fields, editableFields, ''),
    ...unknownIn(given, editableSettings, 'settings.'),
  ];
  if (unknown.length > 0) throw refused(unknown);
  const parsed = editBody.safeParse(body);
  if (parsed.success) return { fields, settings: given };
  throw refused(
    parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message })),
  );
}

/** Returns whether the edit replaces nothing. */
export function isEmptyEdit({ fields, settings: given }: Edit): boolean {
  return Object.keys(fields).length + Object.keys(given).length === 0;
}

/** Returns the object with replaced fields; the object itself stays unchanged. */
export function editedObject(object: ConfigObject, edit: Edit): ConfigObject {
  const spec = isFields(object.spec) ? object.spec : {};
  const before = isFields(spec['settings']) ? spec['settings'] : {};
  const after = replaced(before, edit.settings);
  const edited = replaced(spec, edit.fields);
  return {
    ...object,
    spec: Object.keys(edit.settings).length === 0 ? edited : { ...edited, settings: after },
  };
}

function replaced(before: Fields, edit: Fields): Fields {
  const all = Object.entries({ ...before, ...edit });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

function unknownIn(given: Fields, known: object, prefix: string): FieldError[] {
  return Object.keys(given)
    .filter((key) => !Object.hasOwn(known, key))
    .map((key) => ({ field: prefix + key, message: whyNot(prefix + key) }));
}

function whyNot(field: string): string {
  const instead = 'edit the OpenstackConfig instead';
  return fieldsOfTargets.has(field)
    ? `a what-if cannot replace it, because another target would receive the credentials; ${instead}`
    : `a what-if cannot replace it, only ${namesOf(editableFields)} and settings.{${namesOf(editableSettings)}}; ${instead}`;
}

function namesOf(shape: object): string {
  return Object.keys(shape).join(', ');
}

export function refused(errors: readonly FieldError[]): HttpProblem {
  const detail = errors
    .map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
    .join('; ');
  return new HttpProblem(422, 'InvalidEdit', detail, { errors });
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
