// The official JavaScript client against a live door: node door.mjs BASE_URL GRANT. Prints one JSON object.
import OpenAI from "openai";

const [baseURL, apiKey] = process.argv.slice(2);
const door = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey, maxRetries: 0 });
const ask = (content, more) => ({ model: "any", messages: [{ role: "user", content }], ...more });
const told = {};

const plain = await door.chat.completions.create(ask("hi"));
told.plain = plain.choices[0].message.content;

told.streamed = "";
for await (const chunk of await door.chat.completions.create(ask("hi", { stream: true }))) {
  told.streamed += chunk.choices[0].delta.content ?? "";
}

const gathered = await door.chat.completions
  .stream(ask("hi", { stream_options: { include_usage: true } }))
  .finalChatCompletion();
told.gathered = gathered.choices[0].message.content;
told.role = gathered.choices[0].message.role;
told.usage = gathered.usage.total_tokens;

try {
  for await (const chunk of await door.chat.completions.create(ask("breaks", { stream: true }))) void chunk;
} catch (fault) {
  told.broke = fault.message;
}

const wrong = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey: "no.grant", maxRetries: 0 });
told.refused = await wrong.models.list().then(
  () => 200,
  (fault) => fault.status,
);

const hanging = await door.chat.completions.create(ask("hang", { stream: true }));
for await (const chunk of hanging) {
  void chunk;
  break; // leaves
}
told.models = (await door.models.list()).data.map((model) => model.id);
console.log(JSON.stringify(told));
