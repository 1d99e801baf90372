/** Sizes and kinds of the parts of a tool's result. */
import { isRecord } from '../domain/json.ts';
import type { ContentBlock } from '../domain/tool.ts';

/** How many bytes a part is, as a model is given it: its text, its base64, or its JSON. */
export function sizeOfBlock(block: ContentBlock): number {
  const { text, data } = block;
  if (typeof text === 'string') return Buffer.byteLength(text);
  if (typeof data === 'string') return data.length;
  return Buffer.byteLength(JSON.stringify(block));
}

/** The longest start of a text that has at most so many bytes in UTF-8. No character is cut in two. */
export function prefixOf(text: string, maxBytes: number): string {
  if (text.length <= maxBytes && Buffer.byteLength(text) <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(Math.max(0, maxBytes)));
  return text.slice(0, read);
}

/** Whether a part is something to see or to hear: an image, audio, or a resource that is one. */
export function isMedia(block: ContentBlock): boolean {
  if (block.type === 'image' || block.type === 'audio') return true;
  const { resource } = block;
  return (
    isRecord(resource) && typeof resource['blob'] === 'string' && /^(?:image|audio|video)\//.test(mimeTypeOf(block))
  );
}

/** The media type a part says it has; its kind, where it says none. */
export function mimeTypeOf({ type, mimeType, resource }: ContentBlock): string {
  if (typeof mimeType === 'string') return mimeType;
  const inner = isRecord(resource) ? resource['mimeType'] : undefined;
  return typeof inner === 'string' ? inner : type;
}
