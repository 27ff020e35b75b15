import type { IncomingMessage } from 'node:http';
import { parse } from 'yaml';
import * as z from 'zod';
import type { JsonObject } from '../objects/json.ts';
import { type KubeObject, parseObject } from '../objects/object.ts';
import { badRequest, StatusError } from '../objects/status-error.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';

/** The real server's limit for a request body. */
const maxBytes = 3 * 1024 * 1024;
/** etcd's limit for one value; beyond it the real server answers 500, not 413. */
const maxStored = 1.5 * 1024 * 1024;

/** Reads a body; throws 413 beyond the server's limit, 500 beyond etcd's. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
  }
  if (size > maxBytes) {
    const message = `Request entity too large: limit is ${maxBytes}`;
    throw new StatusError(413, 'RequestEntityTooLarge', message);
  }
  if (size > maxStored) throw new StatusError(500, '', 'etcdserver: request is too large');
  return Buffer.concat(chunks).toString();
}

const objectEdge = z.record(z.string(), z.json());

/** Reads a body of JSON, or of YAML for server-side apply. */
export function parseBody(text: string, yaml = false): JsonObject {
  const result = objectEdge.safeParse(decodeBody(text, yaml));
  if (!result.success) throw badRequest('the request body is not an object');
  return result.data;
}

/** Reads a body of any form; throws 400 for a body that is no JSON, or no YAML. */
export function decodeBody(text: string, yaml = false): unknown {
  try {
    // Every client of ours sends JSON, which YAML contains and which is ten times cheaper to read.
    return yaml && !text.startsWith('{') ? parse(text) : JSON.parse(text);
  } catch (error) {
    throw badRequest(`error decoding the request body: ${(error as Error).message}`);
  }
}

/** Reads a whole Kubernetes object; throws 400 naming the field that cannot be one. */
export function objectOf(body: JsonObject, type: ResourceType): KubeObject {
  // The path tells a built-in kind; a custom one has to be named.
  const implied = type.custom ? {} : { apiVersion: apiVersionOf(type), kind: type.kind };
  const parsed = parseObject({ ...implied, ...body });
  if ('problem' in parsed) throw badRequest(`error decoding the request body: ${parsed.problem}`);
  return parsed.object;
}
