import { expect, it } from 'vitest';
import { type Message, parseMessages } from './stream.ts';

const messagesOf = async (chunks: Uint8Array[]): Promise<Message[]> => {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const messages: Message[] = [];
  for await (const message of parseMessages(body)) messages.push(message);
  return messages;
};

const bytes = (text: string) => new TextEncoder().encode(text);

it('reads messages regardless of how the bytes are split', async () => {
  const text = bytes(
    'id: 6\n\nevent: kept\r\nid: 7\r\ndata: {"é\u2028":1,\r\ndata: "b":2}\r\n\r\n: still here\n\nretry\rdata:x\n\nid: 8\ndata: cut off',
  );
  const messages = [
    { type: 'message', data: '', id: '6' },
    { type: 'kept', data: '{"é\u2028":1,\n"b":2}', id: '7' },
    { type: 'message', data: 'x', id: '7' },
  ];
  expect(await messagesOf([text])).toEqual(messages);
  expect(await messagesOf(Array.from(text, (byte) => Uint8Array.of(byte)))).toEqual(messages);
});

it('rejects a message that never ends', async () => {
  const chunks = Array.from({ length: 6 }, () => bytes('x'.repeat(1024 * 1024)));
  await expect(messagesOf(chunks)).rejects.toThrow();
  await expect(messagesOf(chunks.map((chunk) => Uint8Array.from([...bytes('data:'), ...chunk, 10])))).rejects.toThrow();
});
