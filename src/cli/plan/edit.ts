import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { isSameJson } from '../../api/same-json.ts';
import { suggestionFor } from '../../process/nearest.ts';
import type { ConfigObject } from '../../session/facts/kinds.ts';
import { Refusal, WrongUsage } from '../refusal.ts';

/** Spec fields to replace; null removes a field. The operator checks the values. */
export type Edit = Record<string, unknown>;

type Form = 'text' | 'list' | 'number' | 'json';

/** Editable settings and spec fields: without effect on the credentials' targets. */
const settings: Readonly<Record<string, Form>> = {
  mode: 'text',
  existingConfiguration: 'text',
  portBaseline: 'text',
  routing: 'text',
  maxInterfaces: 'number',
  addressFamilies: 'list',
  openstackPortAllowedStatuses: 'list',
};
const fields: Readonly<Record<string, Form>> = {
  subnetIDs: 'list',
  subnetID: 'text',
  subnetName: 'text',
  vmNames: 'list',
  vmSelector: 'json',
};

/** Reads `--set KEY=VALUE`; an empty value removes the field. */
export function editOf(assignments: readonly string[]): Edit {
  const edit: Edit = {};
  for (const assignment of assignments) {
    const [given = '', ...rest] = assignment.split('=');
    const key = given.replace(/^spec\./, '').replace(/^settings\./, '');
    if (rest.length === 0) throw refused(`--set "${assignment}" has no value`);
    const value = rest.join('=');
    const ofSettings = Object.hasOwn(settings, key);
    const form = ofSettings ? settings[key] : fields[key];
    if (form === undefined) throw unknownKey(key);
    const target = ofSettings ? ((edit['settings'] ??= {}) as Edit) : edit;
    target[key] = value === '' ? null : valueOf(form, value, key);
  }
  return edit;
}

function refused(why: string): WrongUsage {
  return new WrongUsage(why, 'give KEY=VALUE, for example --set portBaseline=All');
}

function unknownKey(key: string): WrongUsage {
  const known = [...Object.keys(settings), ...Object.keys(fields)];
  return new WrongUsage(
    `--set ${key}: a plan cannot replace this field${suggestionFor(key, known)}`,
    `choose one of ${known.join(', ')}; edit other fields in the OpenstackConfig`,
  );
}

function valueOf(form: Form, text: string, key: string): unknown {
  if (form === 'list') return listOf(text, key);
  if (form === 'text') return text;
  try {
    return JSON.parse(text);
  } catch {
    const example = form === 'number' ? 'a number' : 'JSON, for example {"tags":["data"]}';
    throw new WrongUsage(
      `--set ${key}: "${text}" is not ${form === 'number' ? 'a number' : 'JSON'}`,
      `give ${example}`,
    );
  }
}

/** Returns the texts from a JSON list, or between commas. */
function listOf(text: string, key: string): string[] {
  if (!text.trim().startsWith('[')) return text.split(',').map((each) => each.trim());
  const list = jsonIn(text);
  if (Array.isArray(list) && list.every((each) => typeof each === 'string')) return list;
  throw new WrongUsage(
    `--set ${key}: ${text} is not a JSON list of texts`,
    `give for example --set '${key}=["a","b"]' or --set ${key}=a,b`,
  );
}

/** Returns undefined for a text without JSON. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** File with an edited OpenstackConfig. */
export interface EditedFile {
  readonly path: string;
  readonly content: unknown;
}

/** Reads a file with a single object; standard input is readable only once. */
export async function editedFile(path: string): Promise<EditedFile> {
  const text = await textOf(path);
  const documents = parseAllDocuments(text);
  const [document] = documents;
  if (document === undefined || documents.length !== 1) {
    throw new Refusal(
      `${path} holds ${documents.length} objects`,
      'give a file with one OpenstackConfig',
    );
  }
  const [flaw] = document.errors;
  if (flaw) throw new Refusal(`${path} is not YAML: ${flaw.message}`, 'correct the file');
  return { path, content: document.toJS() as unknown };
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path === '-' ? '/dev/stdin' : path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Refusal(`${path} cannot be read: ${why}`, 'give a readable file with -f');
  }
}

/** A Kubernetes object's fields; the API server ignores unknown fields. */
const parts: readonly string[] = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];

/** Returns how an edited OpenstackConfig differs from the existing one. */
export function editOfFile({ path, content: read }: EditedFile, config: ConfigObject): Edit {
  if (!isFields(read) || read['kind'] !== 'OpenstackConfig' || !isFields(read['spec'])) {
    throw new Refusal(
      `${path} is no OpenstackConfig with a spec`,
      'give the edited OpenstackConfig with -f',
    );
  }
  const unknown = Object.keys(read).find((key) => !parts.includes(key));
  if (unknown !== undefined) {
    throw new Refusal(
      `${path} has the unknown field ${unknown}${suggestionFor(unknown, parts)}`,
      `remove ${unknown}, or move it below spec`,
    );
  }
  const { name } = isFields(read['metadata']) ? read['metadata'] : {};
  if (name !== config.metadata.name) {
    throw new Refusal(
      `${path} is OpenstackConfig ${String(name)}, not ${config.metadata.name}`,
      `kubectl multinic plan ${String(name)} -f ${path}`,
    );
  }
  const before: Edit = { ...config.spec };
  const after = read['spec'];
  for (const field of ['credentials', 'secrets']) {
    // Never sent: another target would receive the credentials, and a file may hold a password.
    if (!isSameJson(before[field], after[field])) {
      throw new Refusal(
        `${path} changes spec.${field}, which a plan cannot replace`,
        `restore spec.${field} in the file; apply such a change with kubectl`,
      );
    }
  }
  const edit = changed(before, after);
  delete edit['settings'];
  const own = changed(fieldsOf(before['settings']), fieldsOf(after['settings']));
  return Object.keys(own).length === 0 ? edit : { ...edit, settings: own };
}

function changed(before: Edit, after: Edit): Edit {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const differing = keys.filter((key) => !isSameJson(before[key], after[key]));
  return Object.fromEntries(differing.map((key) => [key, after[key] ?? null]));
}

function fieldsOf(value: unknown): Edit {
  return isFields(value) ? value : {};
}

function isFields(value: unknown): value is Edit {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
