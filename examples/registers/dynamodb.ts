import type { TokenRegister } from 'axios-evergreen/store'

/** The methods of `DynamoDBDocument.from(new DynamoDBClient())` (@aws-sdk/lib-dynamodb) that the recipe uses. */
interface Documents {
  get(input: object): Promise<{ Item?: Record<string, unknown> }>
  put(input: object): Promise<unknown>
}

/** Amazon DynamoDB. @param TableName A table whose partition key is the string `id`. Enable its TTL on the attribute `until`. */
export function dynamoRegister(documents: Documents, TableName: string): TokenRegister {
  return {
    kind: 'dynamodb',
    async read(id) {
      const { Item } = await documents.get({ TableName, Key: { id }, ConsistentRead: true })
      // DynamoDB reports no time, so the clocks of the processes must agree (NTP).
      return { now: Date.now(), value: Item?.text as string | undefined }
    },
    async replace(id, expected, text, keepMs) {
      const until = Math.ceil((Date.now() + keepMs) / 1_000)
      const ConditionExpression = expected === undefined ? 'attribute_not_exists(id)' : '#text = :expected'
      const names = expected !== undefined && {
        ExpressionAttributeNames: { '#text': 'text' },
        ExpressionAttributeValues: { ':expected': expected },
      }
      try {
        await documents.put({ TableName, Item: { id, text, until }, ConditionExpression, ...names })
        return true
      } catch (error) {
        if ((error as Error).name === 'ConditionalCheckFailedException') return false
        throw error
      }
    },
  }
}
